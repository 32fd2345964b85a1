import type { Economics } from '../../../src/protocol/economics.ts'
import type { LimitReason } from '../../../src/protocol/bridge/turns.ts'
import { oneLine } from './plainText.ts'
import type { Took } from './workTimes.ts'

/** Formats a number: `12,345`. Small integers skip `toLocaleString`, which takes milliseconds on its first use. */
export const whole = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1_000 ? String(value) : value.toLocaleString('en-US')

/** Formats a count with its noun: `1 turn`, `12,345 turns`. */
export const counted = (count: number, noun: string): string => `${whole(count)} ${noun}${count === 1 ? '' : 's'}`

/** Formats US dollars: `$0.05`, or `$0.0018` for less than a cent. */
export function dollars(costUsd: number): string {
  if (costUsd > 0 && costUsd < 0.0001) return '<$0.0001'
  return `$${costUsd.toFixed(costUsd > 0 && costUsd < 0.01 ? 4 : 2)}`
}

/** Formats US dollars as `dollars` does, but 0, which also stands for an unknown amount, as a dash. */
export const money = (costUsd: number): string => (costUsd === 0 ? '–' : dollars(costUsd))

/** Describes a limit of a run: `limit of 60 turns`, `limit of $5.00`. */
export function limitWords({ limit, allowed }: Pick<LimitReason, 'limit' | 'allowed'>): string {
  if (limit === 'costUsd') return `limit of ${dollars(allowed)}`
  if (limit === 'ms') return `limit of ${duration(allowed)}`
  return `limit of ${counted(allowed, limit.replace(/s$/, ''))}`
}

/** Describes the effect of reshaping a conversation: `frees 1,240 tokens, pays after 3 requests`. */
export function savings({ freed, paysAfter }: Economics): string {
  if (freed <= 0) return freed === 0 ? 'frees nothing' : `adds ${counted(-freed, 'token')}`
  const pays =
    paysAfter === null ? 'never pays' : paysAfter === 1 ? 'pays at once' : `pays after ${whole(paysAfter)} requests`
  return `frees ${counted(freed, 'token')}, ${pays}`
}

const units: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]

/** Formats a duration: `340 ms`, `2.1 s`, `3 min 05 s`, `1 h 04 min`. Negative ones, after a clock jump, count as 0. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`
  const minutes = Math.round(seconds / 60)
  return `${whole(Math.floor(minutes / 60))} h ${two(minutes % 60)} min`
}

/** Formats the duration of an operation, and apart from it the wait for people: `1.6 s + 23.0 s waiting`. */
export const tookWords = ({ ms, waitedMs }: Took): string =>
  waitedMs < 1_000
    ? duration(ms + Math.max(0, waitedMs))
    : [...(ms < 0.5 ? [] : [duration(ms)]), `${duration(waitedMs)} waiting`].join(' + ')

/** Formats an age in its largest unit: `5 min`, `3 d`. */
export function age(ms: number): string {
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ['s', 1000]
  return `${Math.max(0, Math.floor(ms / size))} ${name}`
}

/** Formats a moment in local time, to the second. */
export function moment(time: number): string {
  const date = new Date(time)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-')
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`
}

/** Returns `, by policy tidy`, or an empty string without a policy. */
export const byPolicy = (policy: string | undefined): string =>
  policy === undefined ? '' : `, by policy ${oneLine(policy)}`
