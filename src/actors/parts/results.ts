/** The door by which calls have results kept that are too large to show. */
export { isLarge, keepAll, keptOutcome, outcomeOfTool } from './artifacts/keepResult.ts'
