import type { ScheduleTimes } from './scheduleTimes.ts'

/** Returns a time as `2027-03-01 09:00:00Z`. */
export const timeWords = (time: number): string =>
  new Date(time)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.000Z$/, 'Z')

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

function distance(ms: number): string {
  const [word, size] = units.find(([, length]) => ms % length === 0) ?? ['millisecond', 1]
  return ms === size ? word : `${ms / size} ${word}s`
}

/** Describes when a schedule fires: `every 2 hours`, `0 9 * * 1-5 in Europe/Berlin`, `once`. */
export function timesWords(times: ScheduleTimes): string {
  if ('at' in times) return 'once'
  return 'every' in times ? `every ${distance(times.every)}` : `${times.cron} in ${times.timezone}`
}
