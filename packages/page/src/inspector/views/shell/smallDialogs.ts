/** Dialogs whose code is fetched together: each is small, and a person who opens one opens others. */
export { CompactDialog } from '../conversation/compactDialog.tsx'
export { ForkDialog } from '../branches/forkDialog.tsx'
export { PolicyDialog } from '../agent/policyDialog.tsx'
export { ShareDialog } from '../agent/shareDialog.tsx'
export { SpawnDialog } from '../sessions/spawnDialog.tsx'
export { StopDialog } from '../agent/stopDialog.tsx'
