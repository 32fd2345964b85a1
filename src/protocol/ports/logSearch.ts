import type { LogQuery } from './logPages.ts'

/** Text to search in logs, and the logs to search. */
export interface SearchQuery extends Omit<LogQuery, 'after' | 'limit' | 'total'> {
  /** Words, all of which a record must have; a word that is not too short also finds longer ones. No character is an operator. */
  readonly text: string
  /** Most records to return; default 20. */
  readonly limit?: number
}

/** A record in which the words were found. */
export interface SearchHit {
  readonly agentId: string
  readonly seq: number
  /** The passage that was found, on one line, with the text around it. */
  readonly excerpt: string
  /** Quality of the match: the greater the better. Comparable within one answer. */
  readonly rank: number
}

/** Number of records that a search finds unless told otherwise. */
export const defaultSearchLimit = 20
