import type { OverviewRow } from './overview.ts'

/** Cost in US dollars from which on an agent without any limit is alarming, unless the server sets another. */
const usualAlert = 1

/** Reason why the cost of a row is alarming; `null` if it is not. */
export type Alarm = 'unlimited' | 'expensive' | null

/** Returns the reason why a row's cost is alarming. `alertUsd`: the server's threshold, if it has one. Pure. */
export function alarmOf({ of, costUsd, isSession }: OverviewRow, alertUsd: number | undefined): Alarm {
  if (isSession) return null
  const limits = 'limits' in of ? of.limits : undefined
  const isUnlimited = limits !== undefined && Object.keys(limits).every((name) => name === 'onLimit')
  if (isUnlimited && costUsd >= (alertUsd ?? usualAlert)) return 'unlimited'
  return alertUsd !== undefined && costUsd >= alertUsd ? 'expensive' : null
}
