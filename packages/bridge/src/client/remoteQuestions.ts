import { plainState } from '../../../../src/protocol/parts/state/plainState.ts'
import { difference, type StateOp } from '../../../../src/protocol/parts/state/patch.ts'
import { drafted } from '../../../../src/protocol/parts/state/drafted.ts'
import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import {
  conversationShape,
  forkShape,
  readAnswer,
  shareShape,
  snapshotOf,
  type RemoteConversation,
  type RemoteShare,
  type RemoteSnapshot,
} from './answers.ts'
import type { AppState } from './fold/foldAppState.ts'
import type { Asked } from './outgoing.ts'
import { readSharedPast } from './sharedPast.ts'

/** Queries to an agent on a server, and the agent's application state. */
export abstract class RemoteQuestions<out State = unknown> {
  abstract readonly id: string
  protected abstract ask(frame: Asked): Promise<unknown>

  /** Returns the agent's current state. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`. */
  async snapshot(): Promise<RemoteSnapshot> {
    return snapshotOf(await this.ask({ type: 'agent.snapshot', agentId: this.id }))
  }

  /** Returns the messages that the model sees (`trunk`), or every message ever (`log`). Rejects as `snapshot` does. */
  async conversation(view: 'trunk' | 'log' = 'trunk'): Promise<RemoteConversation> {
    const answer = await this.ask({ type: 'agent.conversation', agentId: this.id, view })
    return { pins: [], masks: [], ...readAnswer(conversationShape, answer) }
  }

  /**
   * Creates an agent that shares this agent's past up to the step of a node, such as `n12`, and continues when it is
   * prompted. Rejects with `BRIDGE_FORBIDDEN` without the right `spawn`, `NODE_NOT_FOUND`, `AGENT_INCOGNITO`.
   */
  async fork(at: string): Promise<{ readonly agentId: string }> {
    return readAnswer(forkShape, await this.ask({ type: 'agent.fork', agentId: this.id, at }))
  }

  /**
   * Returns the records that a fork shares with its sources, a list for each log, oldest first; none for other agents. Rejects as `snapshot` does.
   */
  past(): Promise<readonly (readonly LogRecord[])[]> {
    return readSharedPast((frame) => this.ask(frame), this.id)
  }

  /**
   * Returns a read-only token for this agent and its descendants, valid for `ms` milliseconds, a day by
   * default. Rejects with `BRIDGE_FORBIDDEN` without the right `share`, `INVALID_OPTION`.
   */
  async share({ ms }: { readonly ms?: number } = {}): Promise<RemoteShare> {
    const asked = { type: 'agent.share', agentId: this.id, ...(ms === undefined ? {} : { ms }) } as const
    return readAnswer(shareShape, await this.ask(asked))
  }

  /** Returns the agent's application state, for clients with the right `see.all`. Rejects with `STATE_OFF`, and as `snapshot` does. */
  async appState(): Promise<AppState & { readonly value: State }> {
    const { appState } = await this.snapshot()
    if (appState !== undefined) return appState as AppState & { readonly value: State }
    throw new RuntimeError('STATE_OFF', `Agent "${this.id}" has no state, or none that this client may see.`)
  }

  /**
   * Changes that state as `updateState` of a local agent does. Resolves to the new state. If another author has changed
   * the same place meanwhile, `update` is called once more with the newest state. Rejects with `STATE_CONFLICT` if that
   * happens again, `STATE_INVALID`, `STATE_OFF`, `BRIDGE_FORBIDDEN` without the right `control`.
   */
  async updateState(update: (draft: State) => State | void): Promise<State> {
    const once = async (): Promise<State> => {
      const { value, version } = await this.appState()
      const next = plainState(drafted(value, update))
      const patch = difference(value, next)
      if (patch.length > 0) await this.patchState(patch, version)
      return next as State
    }
    return once().catch((thrown: unknown) => {
      if (!hasCode(thrown, 'STATE_CONFLICT')) throw thrown
      return once()
    })
  }

  /** Changes the state by a patch as in RFC 6902. `base` is the version that the patch was made for. Rejects as `updateState` does. */
  abstract patchState(patch: readonly StateOp[], base?: number): Promise<void>
}
