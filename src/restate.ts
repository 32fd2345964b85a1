/** The door "escapement/restate": agents on many machines, placed by the Restate engine. Needs `@restatedev/restate-sdk`, and its clients package to ask. */
export { restateClient, type RestateClient } from '../packages/cluster/src/restate/restateClient.ts'
export type { Dispatch } from '../packages/bridge/src/server/dispatch.ts'
export { restateDispatch } from '../packages/cluster/src/restate/restateDispatch.ts'
export type { Outcome as RestateOutcome } from '../packages/cluster/src/restate/carried.ts'
export { restateWorker, type RestateWorker } from '../packages/cluster/src/restate/restateWorker.ts'
export { restateRuntime, type RestateRuntime } from '../packages/cluster/src/restate/restateRuntime.ts'
