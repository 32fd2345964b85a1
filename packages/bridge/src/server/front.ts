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

/** A client that was admitted. */
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
  /** Number of unanswered commands. */
  readonly waiting: number
  /** Returns the ids of the agents that run on any worker, as far as the client may see them. */
  running(): Promise<ReadonlySet<string>>
  /** Returns the workers that can be reached, by name. Rejects with `BRIDGE_FORBIDDEN` if the client may not know them. */
  workers(): Promise<readonly WorkerEntry[]>
  /** Handles and answers a command. Returns `false` for a command that the server itself has to answer. */
  takes(command: Command): boolean
  close(): void
}

/** Front of a server that runs no agents itself. */
export interface Front {
  /** The front's log of refusals, which the server uses too. */
  readonly refusals: RefusalLog
  /** Begins to serve an admitted client. Rejects if that is not possible. */
  enter(client: FrontClient): Promise<Relay>
  /** Forwards the answer of the agent's worker to a request. If it throws, the error is sent to the client. */
  answer(visit: FrontVisit): Promise<void>
  /** Forwards a socket at the path of another protocol to the workers. */
  connect(socket: TextSocket, permit: Permit, path: string): void
}

/** A request of an admitted client. */
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
