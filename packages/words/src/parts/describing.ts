import type { Narrated, Telling } from '../brakes/telling.ts'
import type { EventOf } from '../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../src/protocol/ids.ts'
import type { PlainBlock, Usage } from '../../../../src/protocol/messages.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'

type Attribute = string | number | boolean | readonly string[] | undefined

/** A call that no message of the model has, for those who show calls: as it begins and, with `end`, once it is over. */
export interface CallShown {
  readonly callId: string
  readonly name: string
  readonly input?: unknown
  readonly end?: { readonly content: readonly PlainBlock[]; readonly isError: boolean; readonly data?: unknown }
}

/** Words about one kind of record that need no content. */
export interface RecordWords<E> {
  /** The line of the application's log: never content. */
  log(event: E, telling: Pick<Telling, 'counted'>): Narrated
  /** Attributes of its mark in a span; `hasContent`: what was said may stand there. Default: it has no mark. */
  attributes?(event: E, hasContent: boolean): { readonly [name: string]: Attribute }
  /** The call that it is about, for chats and editors that show each call. Default: none. */
  call?(event: E): CallShown
  /** The part of it that clients see who may not see all. Default: nothing. */
  visible?(event: E): E
}

/** Words about the records of a part, by type. */
export type PartWords<Records> = { readonly [T in keyof Records & PartRecordType]: RecordWords<EventOf<T>> }

/** Helpers of those who show records: how they count, shorten and name amounts. */
export interface ShowingWords extends Pick<Telling, 'counted' | 'short'> {
  readonly dollars: (costUsd: number) => string
  /** The cost of asking a model. */
  readonly asking: (usage: Usage, costUsd: number) => string
}

/** A line of a terminal. */
export interface TerminalLine {
  readonly text: string
  readonly tone: 'dim' | 'warn'
}

/** A remark about what the agent had in view, below a heading. */
export interface PartNote {
  readonly heading: string
  readonly text: string
  readonly lines?: readonly string[]
  readonly tone?: 'warn' | 'bad'
  readonly node?: NodeId
}

/** Lines about one kind of record, for people who may see everything. */
export interface RecordLines<E> {
  /** Group in lists of events. */
  readonly group: 'run' | 'message' | 'tool' | 'brake' | 'approval' | 'state' | 'request'
  /** One line in a list of events. */
  line(event: E, words: ShowingWords): string
  /** Lines of a terminal. Default: none. */
  terminal?(event: E, words: Pick<ShowingWords, 'counted' | 'short'>): readonly TerminalLine[]
  /** The remark beside the conversation. Default: none. */
  note?(event: E, words: Pick<ShowingWords, 'counted' | 'dollars'>): PartNote
}

/** Lines about the records of a part, by type. */
export type PartLines<Records> = { readonly [T in keyof Records & PartRecordType]: RecordLines<EventOf<T>> }
