/** The door "escapement/stores": everything that a store of your own needs, and the repair of logs. `escapement/testing` has `storeContract`. */

// The port
export { stored, type ErasableStore, type Store, type StoreLease } from './protocol/ports/store.ts'
export type { LogHolder } from './protocol/ports/store.ts'
export type { LogPage, LogQuery } from './protocol/ports/logPages.ts'
export type { SearchHit, SearchQuery } from './protocol/ports/logSearch.ts'
export type { Checkpoint, CheckpointStore } from './protocol/ports/checkpoints.ts'
export type { DueAgent, TimerIndex } from './protocol/ports/timers.ts'
export type { SnapshotStore } from './protocol/ports/snapshots.ts'

// Records
export { logRecordSchema, recordVersion } from './protocol/records.ts'
export { parseRecord } from './protocol/upgradeRecord.ts'
export { repairLog, type LogRepair } from '../packages/stores/src/repairLog.ts'
