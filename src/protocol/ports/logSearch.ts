import type { LogQuery } from './logPages.ts'

/** Text to search for in logs, and the logs to search. */
export interface SearchQuery extends Omit<LogQuery, 'after' | 'limit' | 'total'> {
  /** Words that a record must all contain. A word that is not too short also matches longer words. No character is an operator. */
  readonly text: string
  /** Maximum number of records to return; default 20. */
  readonly limit?: number
}

/** A record in which the words were found. */
export interface SearchHit {
  readonly agentId: string
  readonly seq: number
  /** The matching passage with the text around it, on one line. */
  readonly excerpt: string
  /** Quality of the match; higher is better. Comparable only within one answer. */
  readonly rank: number
}

/** Default number of records that a search finds. */
export const defaultSearchLimit = 20
