/** A period in which something happened; `at`: its beginning on the axis. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly at: number
}

/** The visible part of the axis. */
export interface AxisWindow {
  readonly from: number
  readonly to: number
}

/** An axis of time on which long pauses are shortened. Positions on it are milliseconds, without the parts that are left out. */
export interface TimeAxis {
  readonly stretches: readonly Stretch[]
  readonly length: number
  /** Returns the position of a time. */
  readonly place: (time: number) => number
}

/** Maximum length of a pause on the axis, as a share of all busy time. */
const pauseShare = 0.04
/** Minimum width of a window, in milliseconds. */
const least = 5

/** Returns an axis for times in which something happened, in the order they began. They may overlap. Pure. */
export function timeAxis(busy: readonly Pick<Stretch, 'from' | 'to'>[]): TimeAxis {
  const joined: { from: number; to: number }[] = []
  let total = 0
  for (const { from, to } of busy) {
    const last = joined.at(-1)
    if (last === undefined || from > last.to) joined.push({ from, to: Math.max(from, to) })
    else last.to = Math.max(last.to, to)
  }
  for (const { from, to } of joined) total += to - from
  const pause = Math.max(1, total * pauseShare)
  const stretches: Stretch[] = []
  for (const { from, to } of joined) {
    const last = stretches.at(-1)
    const before = last === undefined ? 0 : last.at + (last.to - last.from)
    const at = last === undefined ? 0 : before + Math.min(pause, from - last.to)
    stretches.push({ from, to, at })
  }
  const end = stretches.at(-1)
  const length = Math.max(1, end === undefined ? 0 : end.at + end.to - end.from)
  return { stretches, length, place: (time) => placeOn(stretches, time, pause) }
}

function placeOn(stretches: readonly Stretch[], time: number, pause: number): number {
  let low = 0
  let high = stretches.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (stretches[middle]!.from <= time) low = middle + 1
    else high = middle
  }
  const stretch = stretches[low - 1]
  if (stretch === undefined) return 0
  const next = stretches[low]
  const inside = stretch.at + Math.min(time, next === undefined ? time : stretch.to) - stretch.from
  if (next === undefined || time <= stretch.to) return inside
  return Math.min(next.at, inside + Math.min(pause, time - stretch.to))
}

/** Returns the end of a window for a growing period, chosen so that it seldom has to change: at most a quarter is empty. Pure. */
export function roomFor(ms: number): number {
  if (ms <= 1_000) return 1_000
  return 1_000 * 1.25 ** Math.ceil(Math.log(ms / 1_000) / Math.log(1.25) - 1e-9)
}

const within = ({ from, to }: AxisWindow, length: number): AxisWindow => {
  const width = Math.min(length, Math.max(least, to - from))
  const start = Math.max(0, Math.min(length - width, from))
  return { from: start, to: start + width }
}

/** Returns a window `factor` times as wide, with `around` at the same place. Pure. */
export function zoomed(window: AxisWindow, length: number, factor: number, around: number): AxisWindow {
  const width = Math.min(length, Math.max(least, (window.to - window.from) * factor))
  const share = (around - window.from) / (window.to - window.from)
  return within({ from: around - share * width, to: around + (1 - share) * width }, length)
}

/** Returns a window moved by a share of its width. Pure. */
export function panned({ from, to }: AxisWindow, length: number, share: number): AxisWindow {
  const by = (to - from) * share
  return within({ from: from + by, to: to + by }, length)
}

/** Returns the position of a bar in a window, in percent of its width; `null` if it is outside. Pure. */
export function barIn(
  { from: start, to: end }: AxisWindow,
  from: number,
  to: number,
): { readonly left: number; readonly width: number } | null {
  if (to < start || from > end) return null
  const percent = (value: number): number => ((Math.max(start, Math.min(end, value)) - start) / (end - start)) * 100
  const left = percent(from)
  return { left, width: percent(to) - left }
}

/** A mark on the axis; `left`: its position in the window, in percent. */
export interface Tick {
  readonly left: number
  readonly label: string
  /** True if a period begins there after a pause: the label is the time of day. */
  readonly isStart: boolean
}

const steps = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
]

/** Formats the time since the beginning of a stretch: `+250 ms`, `+1.5 s`, `+2 min`, `+2:30`. */
function sinceWords(ms: number): string {
  if (ms < 1_000) return `+${ms} ms`
  if (ms < 60_000) return `+${ms / 1_000} s`
  const two = (value: number): string => String(value).padStart(2, '0')
  const seconds = Math.floor(ms / 1_000)
  const [h, min, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `+${h}:${two(min)} h`
  return s === 0 ? `+${min} min` : `+${min}:${two(s)} min`
}

/**
 * Returns the marks of a window: the beginning of each stretch, labelled by `startWords`, and round times after it. `room`: the share of
 * the window in percent that a label takes; a mark whose label would cover another is left out. Pure.
 */
export function ticksIn(
  { stretches }: TimeAxis,
  window: AxisWindow,
  room: number,
  startWords: (stretch: number) => string,
): readonly Tick[] {
  const width = window.to - window.from
  const percent = (at: number): number => ((at - window.from) / width) * 100
  const step = steps.find((one) => (one / width) * 100 >= room) ?? steps.at(-1)!
  // A label further right would be cut.
  const last = 100 - room * 0.7
  const ticks: Tick[] = []
  for (const [index, { from, to, at }] of stretches.entries()) {
    const end = Math.min(window.to, at + to - from)
    if (end < window.from || at > window.to) continue
    const next = stretches[index + 1]
    const isRoomBefore = (left: number): boolean => left - (ticks.at(-1)?.left ?? -Infinity) >= room
    if (at >= window.from && isRoomBefore(percent(at)))
      ticks.push({ left: percent(at), label: percent(at) > last ? '' : startWords(index), isStart: true })
    const first = Math.max(1, Math.ceil((window.from - at) / step))
    for (let since = first * step; at + since <= end; since += step) {
      const left = percent(at + since)
      const isBeforeNext = next === undefined || percent(next.at) - left >= room
      if (isRoomBefore(left) && isBeforeNext && left <= last)
        ticks.push({ left, label: sinceWords(since), isStart: false })
    }
  }
  return ticks
}
