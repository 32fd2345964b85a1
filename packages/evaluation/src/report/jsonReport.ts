import type { Report } from './report.ts'

/** A report as JSON, as the type `Report` has it. Pure. */
export const jsonReport = (report: Report): string => `${JSON.stringify(report, null, 2)}\n`
