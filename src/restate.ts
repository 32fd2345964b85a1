/** The door "escapement/restate": agents on many machines, placed by the Restate engine. Needs `@restatedev/restate-sdk`, and its clients package to ask. */
export {
  restateClient,
  type RestateClient,
  type RestateClientOptions,
  type RestateRequest,
} from '../packages/cluster/src/restate/restateClient.ts'
export { restateDispatch, type RestateDispatchOptions } from '../packages/cluster/src/restate/restateDispatch.ts'
export type { Outcome as RestateOutcome } from '../packages/cluster/src/restate/carried.ts'
export {
  restateWorker,
  type ListeningWorker,
  type RestateWorker,
  type RestateWorkerOptions,
  type WorkerHandler,
} from '../packages/cluster/src/restate/restateWorker.ts'
export {
  restateRuntime,
  type EngineSpawnOptions,
  type RestateRuntime,
} from '../packages/cluster/src/restate/restateRuntime.ts'
