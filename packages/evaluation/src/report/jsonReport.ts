import type { Report } from './report.ts'

/** Returns a report as JSON of the type `Report`. Pure. */
export const jsonReport = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`
