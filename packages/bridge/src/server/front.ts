import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { CheckedClientFrame, WorkerEntry } from '../../../wire/src/frames.ts'
import type { Permit } from './authenticator.ts'
import type { ForwardedSession } from './forwarded.ts'
import type { TextSocket } from './textSocket.ts'
import type { BridgeLimits } from './limits.ts'
import type { RefusalLog } from './refusalLog.ts'

/** A command of a client. */
export type Command = Exclude<CheckedClientFrame, { type: 'hello' | 'ping' }>

/** The sending end of a client: an `Outbox`, without the packages that its types need. */
interface ClientOutbox {
  readonly isFull: boolean
  send(frame: string): void
  onDrain(call: () => void): () => void
  flush(): void
}

/** A client that was let in. */
export interface FrontClient {
  readonly permit: Permit
  readonly session: ForwardedSession
  readonly outbox: ClientOutbox
  /** Ends the connection with an error, after which the client reconnects. */
  fail(error: ErrorInfo): void
}

/** Forwards the commands of one client to the processes that have the agents. */
export interface Relay {
  /** Names of the definitions that the workers report. */
  readonly definitions: readonly string[]
  readonly descriptions: Readonly<Record<string, string>> | undefined
  /** Commands that have not been answered. */
  readonly waiting: number
  /** Ids of the agents that run on any worker, as far as the client may see them. */
  running(): Promise<ReadonlySet<string>>
  /** The workers that can be reached, by name. Rejects with `BRIDGE_FORBIDDEN`: the client may not know them. */
  workers(): Promise<readonly WorkerEntry[]>
  /** Takes a command and answers it; returns `false` for a command that the server itself has to answer. */
  takes(command: Command): boolean
  close(): void
}

/** Front of a server that runs no agents itself. */
export interface Front {
  /** Its log of refusals, which is the server's too. */
  readonly refusals: RefusalLog
  /** Begins to serve a client that was let in. Rejects if that is not possible. */
  enter(client: FrontClient): Promise<Relay>
  /** Answers a request with the answer of its agent's worker; an error that it throws is sent to the client. */
  answer(visit: FrontVisit): Promise<void>
  /** Forwards a socket at the path of another protocol to the workers. */
  connect(socket: TextSocket, permit: Permit, path: string): void
}

/** A request of a client that was let in. */
export interface FrontVisit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly permit: Permit
  /** Path and query of the request, within the server's own resources or at the path of another protocol. */
  readonly target: { readonly path: string; readonly isOwn: boolean }
  /** Part of the path that may name an agent: `/a1/chart.svg`. */
  readonly rest: string
  readonly limits: BridgeLimits
}
