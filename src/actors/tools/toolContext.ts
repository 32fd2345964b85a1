import type { z } from 'zod'
import type { Snapshots } from '../../protocol/ports/snapshots.ts'
import type { StateDoor } from '../parts/state/stateDoor.ts'
import type { RunContext } from '../calls/runContext.ts'

/**
 * Removes the secrets named by the runtime's `redact` from text. The runtime does this to everything a tool returns; a tool that
 * cuts its own text should do it first, because a secret that was cut in half is no longer recognised.
 */
export interface Redaction {
  /** Returns the text, or a part of it judged in the context of the whole, with a mark in place of each secret. */
  text(text: string, part?: { readonly from: number; readonly to: number }): string
  /** Returns a redactor for text that arrives in pieces. Anything that may begin a secret is held back until `end`. */
  stream(): {
    push(text: string): { readonly text: string } | undefined
    end(): { readonly text: string } | undefined
  }
}

/** A resource that is closed in the end. */
export interface Closable {
  close(): Promise<void>
}

/**
 * Context that a tool's `run` receives in addition to its input. `Deps` is the type of the tool's dependencies; `Receipt` is the type of the receipt
 * for its `undo`.
 */
export interface ToolContext<out Deps = unknown, Receipt = unknown> extends RunContext<Deps> {
  /** The model's id for this call. */
  readonly callId: string
  /** Deterministic id of the call, the same on every attempt: an idempotency key for external effects. */
  readonly key: string
  /**
   * Asks people, and resolves with their answer as `schema` reads it. The call waits as one that needs an approval does: the time limits of
   * the tool and of the run stand still, and the question is in the log. One question at a time is asked; the next waits.
   *
   * After a crash the call runs again **from its start** as soon as the question is answered, whatever its `effects`, and earlier
   * questions get the answers they had: so ask before you act, in the same order and with the same text, or let what comes before a
   * question be safe to repeat, for example by `key`.
   *
   * @throws RuntimeError `QUESTION_INVALID` (no text, or a schema that JSON cannot meet), `QUESTION_DENIED` (nobody wants to answer),
   * `QUESTION_CHANGED` (it asked something else when it first ran); the reason of `signal` once that is aborted. All as rejections.
   *
   * @example
   * ```ts
   * const remove = defineTool({
   *   name: 'remove',
   *   description: 'Removes files.',
   *   input: z.object({ paths: z.array(z.string()) }),
   *   run: async ({ paths }, { ask }) => {
   *     const isSure = await ask(z.boolean(), `Delete all ${paths.length} files?`)
   *     return isSure ? 'deleted' : 'left alone'
   *   },
   * })
   * ```
   */
  ask<Schema extends z.ZodType>(schema: Schema, question: string): Promise<z.output<Schema>>
  /** Reports progress to observers in a `tool.progress` event. Takes any JSON value; ignored once the call has ended. */
  report(progress: unknown): void
  /** Reports that the call changed a file or the like, so that a revert can say which changes remain. Use names the model knows. */
  changed(path: string): void
  /**
   * For a tool with `undo`: keeps the data that undoing the call needs, as JSON of at most 16,000 characters; the last receipt counts. Keep
   * it **before** acting: a call that fails and has kept nothing is taken to have done nothing. `of` names what the call changes, as for
   * `changed`: calls of one thing are undone together, or not at all. A call that is aborted once it has kept something is undone like any other.
   *
   * @throws Error when it is not JSON, or too large.
   */
  keep(receipt: Receipt, of?: string): void
  /**
   * Keeps the step of this call, unless the call fails, in sight of the model: no fold, prune or compaction hides it or cuts its results. A
   * revert may abandon it, and a person may unpin it.
   */
  pin(): void
  /**
   * Gives the application data about the call, which the model does not see: it is in `tool.end.data`, as a field of that `name`, beside the
   * value of a tool with `output` or `toModel`. Without a name it is the data of a tool that has neither. The last of a name counts; a call
   * that fails has no data.
   *
   * @throws TypeError when it is not JSON; the message names the place.
   */
  give(data: unknown, name?: string): void
  /** The agent's state, if its definition has `state`. @throws RuntimeError `STATE_OFF` when it is used without one */
  readonly state: StateDoor
  /** Keeps contents, such as those of a file before the call changes it. */
  readonly snapshots: Snapshots
  /** Id of the call for the model, such as `b3`, while it works in the background. */
  readonly background?: string | undefined
  /**
   * In the background: notes in the log what would be left if this process died, for `cleanUp`; the last note counts. Begin
   * the noted work only once this has resolved. Rejects if it is not JSON of at most 4,000 characters, and as the store does.
   */
  leaves(left: unknown): Promise<void>
  /**
   * Has the runtime close a resource that the tool opened: once the agent has ended (but not while it is only unloaded),
   * or when the runtime is closed. Returns true if the resource was not known yet, once for each agent or runtime.
   */
  closeWith(resource: Closable, of: 'agent' | 'runtime'): boolean
  /** Removes secrets from text; absent if the runtime has no `redact`. */
  readonly redact?: Redaction | undefined
}
