import type { LaidOverlays, LaidOverlay } from '../request/overlay.ts'
import type { Notice } from '../request/brakeNotes.ts'
import type { UndoneTags } from '../brakes/revert/undoneTags.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Annotations } from './annotations.ts'
import type { TreeView } from './conversationTree.ts'
import type { StatePlace, TreeState } from '../parts/state/treeState.ts'

/** A conversation in the form that the folds of brakes change. */
export interface Reshaped extends TreeView {
  readonly counter: TokenCounter
  readonly overlay: LaidOverlay | undefined
  readonly overlays: LaidOverlays
  readonly annotations: Annotations | undefined
  readonly undone: UndoneTags
  /** The state on the tree; `undefined` until it is first changed. */
  state: TreeState | undefined
  /** The step that changes of the state belong to. */
  readonly statePlace: StatePlace
  /** Returns the annotations, and makes them if there are none yet. */
  annotate(): Annotations
  /** Puts a notice after the newest step. In the middle of a step, as after an abort, it would not be read. */
  notify(notice: Notice): void
  /** Notes that the trunk changed from this depth on, other than by growing. */
  changed(depth: number): void
  /** Removes the text about an answer that could not be used. */
  dropRepair(): void
  /** Checks that no step is open. @throws RuntimeError `LOG_CORRUPT` if one is. */
  checkWhole(record: LogRecord): void
}

/** Functions that fold the records of a brake into a conversation, by type. */
export type BrakeFolds<T extends LogRecord['type']> = {
  readonly [R in T]: (conversation: Reshaped, record: Extract<LogRecord, { type: R }>) => void
}
