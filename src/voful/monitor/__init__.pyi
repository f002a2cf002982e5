# Written by `make derive`.
from voful.monitor.check import ModelCheck as ModelCheck
from voful.monitor.watch import Alarm as Alarm
from voful.monitor.watch import ModelAlarm as ModelAlarm
