import type { LogQuery } from './logPages.ts'

/** What is looked for in logs, and in which. */
export interface SearchQuery extends Omit<LogQuery, 'after' | 'limit' | 'total'> {
  /** Words, all of which a record must have; longer ones may go on. Nothing in it is an operator. */
  readonly text: string
  /** How many records at most; 20 unless told. */
  readonly limit?: number
}

/** A record in which the words were found. */
export interface SearchHit {
  readonly agentId: string
  readonly seq: number
  /** What was found, on one line, with what is around it. */
  readonly excerpt: string
  /** How well it fits: the greater the better. Comparable within one answer. */
  readonly rank: number
}

/** How many records a search finds unless told. */
export const defaultSearchLimit = 20
