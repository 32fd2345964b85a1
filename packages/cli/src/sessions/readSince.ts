import { RuntimeError } from '../../../../src/protocol/errors.ts'

const unitMs: Readonly<Record<string, number>> = { min: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Reads a time, such as `24h` before now or `2026-05-01`, as epoch milliseconds. @throws RuntimeError `INVALID_OPTION` */
export function readSince(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})(min|h|d|w)$/.exec(text) ?? []
  const at = count === undefined ? timeOf(text) : now - Number(count) * unitMs[unit]!
  if (Number.isFinite(at)) return Math.max(0, at)
  throw new RuntimeError(
    'INVALID_OPTION',
    `--since "${text}": give a time before now, like 30min, 24h, 7d or 2w, or a day or time, like 2026-05-01.`,
  )
}

/** Returns the time for a text. A day begins at local midnight, not at that of UTC. */
const timeOf = (text: string): number =>
  /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN
