/** Exports for calls, whose results are kept if they are too large to show. */
export { isLarge, keepAll, keptOutcome, outcomeOfTool } from './artifacts/keepResult.ts'
