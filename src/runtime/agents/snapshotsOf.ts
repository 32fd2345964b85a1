import type { AgentSnapshots, SnapshotStore } from '../../protocol/ports/snapshots.ts'

/** Returns one agent's view of the store in which the tools of all agents keep files. */
export const snapshotsOf = (agentId: string, all: SnapshotStore): AgentSnapshots => ({
  maxFileBytes: all.maxFileBytes,
  put: (bytes) => all.put(agentId, bytes),
  get: (id, owner = agentId) => all.get(owner, id),
})
