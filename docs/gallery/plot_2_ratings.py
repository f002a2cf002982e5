"""
Ratings: your own features, scaled
==================================

A shop recommends one of a few dishes to each guest and gets a rating from 1 to 5. Dishes and guests
are described by numbers and by categories. From such a table to arms it is three steps: columns to
numbers, an intercept, and two bounds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import voful

rng = np.random.default_rng(0)

# %%
# The table: cuisine, price, minutes to wait.

CUISINES = ["indian", "italian", "mexican", "thai"]


def draw_dishes(n: int) -> np.ndarray:
    """Rows as they come from a database."""
    cuisine = rng.choice(CUISINES, n)
    return np.column_stack([cuisine.astype(object), rng.uniform(6, 30, n), rng.gamma(4.0, 5.0, n)])


history = draw_dishes(500)

# %%
# Columns to numbers
# ------------------
#
# ``ColumnTransformer`` learns the scales from old rows, without their ratings. Clipping keeps
# outliers inside a norm that is known in advance. The intercept is one more feature; it has the
# value 1.

transform = ColumnTransformer(
    [("cuisine", OneHotEncoder(), [0]), ("numbers", StandardScaler(), [1, 2])]
)
transform.fit(history)


def features(dishes: np.ndarray) -> np.ndarray:
    """Arms: an intercept, four cuisines, two scaled numbers."""
    columns = np.clip(transform.transform(dishes).astype(float), -3.0, 3.0)
    return np.column_stack([np.ones(len(dishes)), columns])


dim = features(history[:1]).shape[1]
largest = np.sqrt(1 + 1 + 2 * 3.0**2)  # intercept, one cuisine, two numbers
print(dim, "features, norms up to", round(largest, 2))

# %%
# Two bounds
# ----------
#
# ``reward_range`` is what a rating can be: (1, 5), not what ratings usually are.
#
# ``theta_norm`` bounds the distance of the unknown parameter from ``theta_center``. The centre is a
# guess that anybody has: a rating of 3, whatever the dish. How far can the truth be from it? Here:
# the intercept may be off by 1, no cuisine is worth more than 1, a standard deviation of price or
# waiting time not more than half a star. That is a norm below 2.4, say 3.

center = np.zeros(dim)
center[0] = 3.0


def new_policy(theta_norm: float = 3.0) -> voful.BetOFUL:
    """Norms of features and parameters may be any numbers; they need not be 1."""
    return voful.BetOFUL(
        dim,
        reward_range=(1.0, 5.0),
        feature_norm=largest,
        theta_norm=theta_norm,
        theta_center=center,
    )


# %%
# Guests
# ------
#
# The truth, unknown to the policy: people like thai food, and neither like to pay nor to wait.

theta_star = np.array([3.3, -0.2, 0.1, -0.1, 0.5, -0.3, -0.25])


def rate(x: np.ndarray) -> float:
    """A rating in half stars with the right mean: rounded up or down by chance."""
    mean = 2.0 * float(np.clip(x @ theta_star + rng.uniform(-0.4, 0.4), 1.0, 5.0))
    return float(np.floor(mean) + (rng.random() < mean % 1.0)) / 2.0


n_guests = 2000
offers = features(draw_dishes(6 * n_guests)).reshape(n_guests, 6, dim)  # six dishes for each guest
policies = {bound: new_policy(bound) for bound in (3.0, 10.0, 100.0)}
policy = policies[3.0]
probe = features(draw_dishes(40))
moments = {*np.geomspace(5, n_guests, 40).astype(int).tolist()}
got, could, guests = [], [], []
widths: dict[float, list[float]] = {bound: [] for bound in policies}
for guest in range(n_guests):
    arms = offers[guest]
    i = policy.select(arms)
    rating = rate(arms[i])
    for other in policies.values():  # the same data for all: any policy may learn from it
        other.update(arms[i], rating)
    means = arms @ theta_star
    got.append(means[i])
    could.append(means.max())
    if guest + 1 in moments:
        guests.append(guest + 1)
        for bound, other in policies.items():
            low, high = other.confidence_set.interval(probe)
            widths[bound].append(float(np.mean(high - low)))

# %%
# How sure is it?
# ---------------
#
# Forty dishes that nobody has ordered: predicted ratings with their intervals, which hold for all
# dishes and at all times together.

mean, low, high = policy.index(probe)
order = np.argsort(probe @ theta_star)
figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
axes.vlines(range(40), low[order], high[order], color="#0072B2", lw=3, alpha=0.5)
axes.plot(range(40), mean[order], "o", ms=4, color="#0072B2", label="predicted")
axes.plot(range(40), (probe @ theta_star)[order], "k.", ms=4, label="true mean")
axes.set(xlabel="dishes", ylabel="rating", xticks=[], ylim=(0.8, 5.2))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
inside = np.mean((low <= probe @ theta_star) & (probe @ theta_star <= high))
print(f"{inside:.0%} of the true means are inside")

# %%
# Does the bound matter?
# ----------------------
#
# A bound that is too large costs a few guests at the start, and then the intervals hardly know of
# it: the lines lie on each other. One that is too small breaks the promise. So be generous.

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
for bound, line in zip(policies, ("-", "--", ":"), strict=True):
    axes.plot(guests, widths[bound], line, color="black", label=f"theta_norm = {bound:g}")
axes.set(xscale="log", xlabel="guests", ylabel="mean width, in stars", ylim=(0, 4.1))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
print(f"stars lost a guest, last thousand: {np.mean(np.subtract(could, got)[-1000:]):.3f}")
