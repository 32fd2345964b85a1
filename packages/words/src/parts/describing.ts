import type { Narrated, Telling } from '../brakes/telling.ts'
import type { EventOf } from '../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../src/protocol/ids.ts'
import type { PlainBlock, Usage } from '../../../../src/protocol/messages.ts'
import type { PartRecordType } from '../../../../src/protocol/parts/partRecords.ts'

type Attribute = string | number | boolean | readonly string[] | undefined

/** A call that no message of the model contains, for displays of calls: at its start and, with `end`, once it is over. */
export interface CallShown {
  readonly callId: string
  readonly name: string
  readonly input?: unknown
  readonly end?: { readonly content: readonly PlainBlock[]; readonly isError: boolean; readonly data?: unknown }
}

/** Texts about one kind of record, without its content. */
export interface RecordWords<E> {
  /** Returns the line of the application's log, which never includes content. */
  log(event: E, telling: Pick<Telling, 'counted'>): Narrated
  /** Returns attributes of its mark in a span. `hasContent`: they may include message content. Default: no mark. */
  attributes?(event: E, hasContent: boolean): { readonly [name: string]: Attribute }
  /** Returns the call that the record is about, for chats and editors that show each call. Default: none. */
  call?(event: E): CallShown
  /** Returns the part shown to clients that may not see everything. Default: nothing. */
  visible?(event: E): E
}

/** Texts about the records of a part, by type. */
export type PartWords<Records> = { readonly [T in keyof Records & PartRecordType]: RecordWords<EventOf<T>> }

/** Helpers for showing records: counting, shortening, formatting amounts. */
export interface ShowingWords extends Pick<Telling, 'counted' | 'short'> {
  readonly dollars: (costUsd: number) => string
  /** Returns the cost of asking a model, as text. */
  readonly asking: (usage: Usage, costUsd: number) => string
}

/** A line of a terminal. */
export interface TerminalLine {
  readonly text: string
  readonly tone: 'dim' | 'warn'
}

/** A remark about the agent's view, below a heading. */
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
  /** Returns one line for a list of events. */
  line(event: E, words: ShowingWords): string
  /** Returns the lines for a terminal. Default: none. */
  terminal?(event: E, words: Pick<ShowingWords, 'counted' | 'short'>): readonly TerminalLine[]
  /** Returns the remark beside the conversation. Default: none. */
  note?(event: E, words: Pick<ShowingWords, 'counted' | 'dollars'>): PartNote
}

/** Lines about the records of a part, by type. */
export type PartLines<Records> = { readonly [T in keyof Records & PartRecordType]: RecordLines<EventOf<T>> }
