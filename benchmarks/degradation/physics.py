"""Links that live and decay, as physics: written apart from the rule, from published figures.

Each figure has its source; `judged` marks those without one.

- Light: 400GBASE-DR4 and SR4 class parts, -2.5 to +1.5 dBm a lane sent, 1 to 3 dB lost in connectors and fibre
  (IEEE 802.3bs, 802.3bm). A clean connector loses 0.3 dB; a dust particle of 1 micrometre 0.05 dB, one of 9 all
  (Cisco, Inspection and Cleaning Procedures, quoted by Fiber Optic Center); a connector that got dirty lost 3.8 dB
  (atlasofengineering.com, case study of fiber connector contamination).
- What fails: contamination is 17 to 57 % of corrupting links, damaged fibre 14 to 48 %, bad or loose transceivers 6 to
  45 %, decaying transmitters below 1 % (Zhuo et al., Understanding and Mitigating Packet Corruption in Data Center
  Networks, SIGCOMM 2017). All classes are drawn alike here, and reported one by one.
- A laser that ages holds its power by more bias until that saturates, and fails within weeks of it (Chakravarty and
  Zeng, Failure Prediction Mechanism for Pluggable Optical Interconnect at Facebook Data Centers).
- Heat: a laser's power follows temperature by at most 1.5 dB over 60 degrees (tracking error as parts are specified;
  mathscinotes.com, Laser Tracking Error). Rooms have 18 to 27 degrees (ASHRAE TC 9.9); load heats a module by 8 degrees
  (judged), which raises bit errors at busy hours.
- Meters: right to within 3 dB, in steps of 0.1 microwatt (SFF-8472, SFF-8636); some agents print one decimal. From one
  reading to the next they are far better: noise of 0.03 dB, drift of 0.1 dB a month (judged).
- Bit errors: Q is proportional to light over thermal noise, with a floor by the laser's own noise (Agrawal,
  Fiber-Optic Communication Systems, 4.4 and 4.6); healthy links have 1e-13 to 1e-7 before FEC; RS(544,514) gives up at
  2.4e-4 (IEEE 802.3bs).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import erfc

Numbers = npt.NDArray[np.float64]
READINGS_A_DAY = 48
"""Every half hour: a service reads every five minutes, so its means are less noisy."""
BITS = 425e9 * 300
"""Of one window of counters at 400 Gb/s."""
FEC_LIMIT = 2.4e-4
ALARM_DBM = -10.3


@dataclass(frozen=True)
class Fates:
    """What becomes of each direction of a link, shapes (directions,) and (times, directions)."""

    kind: npt.NDArray[np.str_]
    since_day: Numbers
    """When it begins."""
    loss_db: Numbers
    """More loss on the way than at the beginning."""
    sent_db: Numbers
    """Less power of the laser."""
    penalty_db: Numbers
    """Loss of signal quality without loss of light."""
    meter_db: Numbers
    """What the meter shows too much."""


@dataclass(frozen=True)
class Lived:
    """What could be read of directions, shapes (times, directions), and when they fail: in days, infinite if never."""

    rx: Numbers
    tx: Numbers
    celsius: Numbers
    rate: Numbers
    """The share of wrong bits in one window; NaN where the counters began again."""
    fails_at: Numbers


def temperatures(rng: np.random.Generator, days: int, links: int) -> Numbers:
    """Of the modules at one end: the room's day, weather of weeks, jobs that heat hosts for hours to days, and some
    racks whose airflow gets worse.
    """
    time = np.arange(days * READINGS_A_DAY) / READINGS_A_DAY
    room = 2.5 * np.sin(2 * np.pi * (time - 0.6)) + 2 * np.sin(2 * np.pi * time / 23 + rng.uniform(0, 6.3))
    load = np.cumsum(rng.random((len(time), links)) < 1 / (READINGS_A_DAY * rng.uniform(0.2, 4, links)), axis=0) % 2
    blocked = np.where(rng.random(links) < 0.02, rng.uniform(5, 15, links), 0)
    later = np.clip((time[:, None] - rng.uniform(0, days, links)) / 3, 0, 1)
    noise = rng.normal(0, 0.3, (len(time), links))
    return np.asarray(rng.normal(42, 4, links) + room[:, None] + 8 * load + blocked * later + noise)


def lived(rng: np.random.Generator, heat: tuple[Numbers, Numbers], fates: Fates) -> Lived:
    """Readings of directions: `heat` are the temperatures of the module that sends and of the one that receives."""
    times, count = fates.loss_db.shape
    sender, receiver = heat
    sent = rng.uniform(-2.5, 1.5, count) + rng.uniform(-0.025, 0.01, count) * (sender - 42) - fates.sent_db
    light = sent - rng.uniform(1, 3, count) - fates.loss_db
    steady, rate = _bit_errors(rng, light, receiver, fates.penalty_db)
    dead = (steady > FEC_LIMIT) | (light < ALARM_DBM)
    first = np.where(dead.any(axis=0), dead.argmax(axis=0) / READINGS_A_DAY, np.inf)
    coarse = np.asarray(rng.random(count) < 0.2)
    shown = [_metered(rng, power, coarse, sender) for power in (light + fates.meter_db, sent)]
    seen = rng.poisson(np.minimum(rate * BITS, 1e15)) / BITS
    bursts = rng.random((times, count)) < 0.002
    return Lived(shown[0], shown[1], receiver, np.where(bursts, seen * 10, seen), first)


def _bit_errors(
    rng: np.random.Generator, light: Numbers, celsius: Numbers, penalty_db: Numbers
) -> tuple[Numbers, Numbers]:
    """The mean error rate, and that of each window: each part has its own quality at its first light, a floor, and its
    own loss by heat.
    """
    count = light.shape[1]
    base = 10 * np.log10(rng.uniform(5.2, 7.3, count))
    gain = light - light[0] - penalty_db - rng.uniform(0, 0.03, count) * np.maximum(celsius - celsius[0], -15)
    floor = rng.uniform(0, 0.35, count)
    relative = 10 ** (gain / 10)
    quality = 10 ** (base / 10) * relative * np.sqrt((1 + floor**2) / (1 + (floor * relative) ** 2))
    steady = np.clip(0.5 * erfc(quality / np.sqrt(2)), 1e-18, 0.5)
    return steady, np.clip(steady * 10 ** rng.normal(0, 0.15, light.shape), 1e-18, 0.5)


def _metered(rng: np.random.Generator, dbm: Numbers, coarse: npt.NDArray[np.bool_], celsius: Numbers) -> Numbers:
    count = dbm.shape[1]
    wrong = np.clip(rng.normal(0, 1, count), -3, 3) + rng.uniform(-0.01, 0.01, count) * (celsius - 42)
    drift = rng.normal(0, 0.1 / 30, count) * (np.arange(len(dbm)) / READINGS_A_DAY)[:, None]
    shown = dbm + wrong + drift + rng.normal(0, 0.03, dbm.shape)
    stepped = np.maximum(np.round(10 ** (shown / 10) / 1e-4), 1) * 1e-4
    return np.asarray(np.where(coarse, np.round(10 * np.log10(stepped), 1), np.round(10 * np.log10(stepped), 2)))
