const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })

/** Whether a number is a time that there can be. */
export const isTime = (time: number): boolean => !Number.isNaN(new Date(time).getTime())

/** `14:03`, or `22 Nov, 14:03` when it is another day than that of `before`; empty for what is no time. Of where the reader is. */
export function dayTime(time: number, before: number | undefined): string {
  if (!isTime(time)) return ''
  const day = days.format(time)
  const isSame = before !== undefined && isTime(before) && days.format(before) === day
  return isSame ? hours.format(time) : `${day}, ${hours.format(time)}`
}

/** Day and time to the second. */
export const exactTime = (time: number): string => (isTime(time) ? exact.format(time) : '')

/** For machines; `undefined` for what is no time. */
export const isoTime = (time: number): string | undefined => (isTime(time) ? new Date(time).toISOString() : undefined)
