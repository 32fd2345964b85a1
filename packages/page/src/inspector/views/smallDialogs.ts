/** Dialogs whose code is fetched together: each is small, and a person who opens one opens others. */
export { CompactDialog } from './compactDialog.tsx'
export { ForkDialog } from './forkDialog.tsx'
export { PolicyDialog } from './policyDialog.tsx'
export { ShareDialog } from './shareDialog.tsx'
export { SpawnDialog } from './spawnDialog.tsx'
export { StopDialog } from './stopDialog.tsx'
