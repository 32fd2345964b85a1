/** The door "escapement/workspaces": places where `workspaceTools` work, and the port for places of your own. */

// Places
export { localWorkspace } from '../packages/tools/src/workspace/localWorkspace.ts'
export { memoryWorkspace, type MemoryWorkspace } from '../packages/tools/src/workspace/memoryWorkspace.ts'
export { dockerWorkspace } from '../packages/tools/src/workspace/dockerWorkspace.ts'
export { fromAiSdkSandbox } from '../packages/tools/src/workspace/aiSdkSandbox.ts'

// A place of your own
export {
  workspaceCodes,
  type ExecEnd,
  type Workspace,
  type WorkspaceCode,
  type WorkspaceEntry,
  type WorkspaceFile,
} from '../packages/tools/src/workspace/port.ts'
