/** A report of a running call as a person reads it: its text, or that of a tool elsewhere, with how far it is. Pure. */
export function progressText(report: unknown): string | undefined {
  if (typeof report === 'string') return report
  if (typeof report !== 'object' || report === null) return undefined
  const { message, progress, total } = report as { readonly [field: string]: unknown }
  if (typeof message === 'string' && message !== '') return message
  if (typeof progress !== 'number') return undefined
  return typeof total === 'number' ? `${progress} of ${total}` : `${progress}`
}
