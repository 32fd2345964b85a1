import type { AgentSnapshots, SnapshotStore } from '../../protocol/snapshots.ts'

/** What one agent's tools keep, in a place for those of all agents. */
export const snapshotsOf = (agentId: string, all: SnapshotStore): AgentSnapshots => ({
  maxFileBytes: all.maxFileBytes,
  put: (bytes) => all.put(agentId, bytes),
  get: (id, owner = agentId) => all.get(owner, id),
})
