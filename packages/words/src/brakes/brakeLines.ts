/** Lines about brakes, by those who show them. */
export * as brakeLines from './graft/graftLines.ts'
