import type { LaidOverlays, LaidOverlay } from '../request/overlay.ts'
import type { Notice } from '../request/brakeNotes.ts'
import type { UndoneTags } from '../brakes/revert/undoneTags.ts'
import type { TokenCounter } from '../limits/tokenCounter.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Annotations } from './annotations.ts'
import type { TreeView } from './conversationTree.ts'
import type { StatePlace, TreeState } from '../parts/state/treeState.ts'

/** A conversation as the folds of brakes change it. */
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
  /** The annotations, made if there are none yet. */
  annotate(): Annotations
  /** Puts a notice after the newest step; in the middle of a step, as after an abort, it would not be read. */
  notify(notice: Notice): void
  /** Notes that the trunk changed from this depth on in another way than by growing. */
  changed(depth: number): void
  /** Takes back the text about an answer that could not be used. */
  dropRepair(): void
  /** @throws RuntimeError `LOG_CORRUPT` if a step is open. */
  checkWhole(record: LogRecord): void
}

/** How records of a brake are folded into a conversation, by type. */
export type BrakeFolds<T extends LogRecord['type']> = {
  readonly [R in T]: (conversation: Reshaped, record: Extract<LogRecord, { type: R }>) => void
}
