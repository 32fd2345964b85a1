import type { Snapshots, SnapshotStore } from '../../src/protocol/ports/snapshots.ts'

/** Snapshots that a store keeps of one agent. */
export const snapshotsOf = (store: SnapshotStore, agentId = 'agent-1'): Snapshots => ({
  maxFileBytes: store.maxFileBytes,
  put: (bytes) => store.put(agentId, bytes),
  get: (id) => store.get(agentId, id),
})
