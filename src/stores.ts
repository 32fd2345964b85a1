/** The door "escapement/stores": what a store of one's own needs, and the repair of logs. `storeContract` of `escapement/testing` tests one. */

// The port
export { stored, type ErasableStore, type Store, type StoreLease } from './protocol/ports/store.ts'
export type { LogHolder, LogWorker } from './protocol/ports/store.ts'
export type { LogPage, LogQuery } from './protocol/ports/logPages.ts'
export type { SearchHit, SearchQuery } from './protocol/ports/logSearch.ts'
export type { Checkpoint, CheckpointStore } from './protocol/ports/checkpoints.ts'
export type { DueAgent, TimerIndex } from './protocol/ports/timers.ts'
export type { SnapshotStore } from './protocol/ports/snapshots.ts'

// Records
export { logRecordSchema, recordVersion } from './protocol/records.ts'
export { parseRecord } from './protocol/upgradeRecord.ts'
export { repairLog } from '../packages/stores/src/repairLog.ts'
