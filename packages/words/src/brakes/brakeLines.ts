/** Lines about brakes, grouped by where they are shown. */
export * as brakeLines from './graft/graftLines.ts'
