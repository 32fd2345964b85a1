const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns true if a number is a valid time in epoch milliseconds. */
export const isTime = (time: number): boolean => !Number.isNaN(new Date(time).getTime())

/** Formats a time in the reader's time zone: `14:03`, or `22 Nov, 14:03` when its day is not that of `before`. Empty for an invalid time. */
export function dayTime(time: number, before: number | undefined): string {
  if (!isTime(time)) return ''
  const day = days.format(time)
  const isSame = before !== undefined && isTime(before) && days.format(before) === day
  return isSame ? hours.format(time) : `${day}, ${hours.format(time)}`
}

/** Formats a day and time to the second. Empty for an invalid time. */
export const exactTime = (time: number): string => (isTime(time) ? exact.format(time) : '')

/** Formats a time as an ISO string; returns `undefined` for an invalid time. */
export const isoTime = (time: number): string | undefined => (isTime(time) ? new Date(time).toISOString() : undefined)
