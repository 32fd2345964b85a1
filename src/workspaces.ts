/** The door "escapement/workspaces": places where `workspaceTools` work, and the port for places of your own. */

// Places
export { localWorkspace, type LocalWorkspaceOptions } from '../packages/tools/src/workspace/localWorkspace.ts'
export {
  memoryWorkspace,
  type MemoryWorkspace,
  type MemoryWorkspaceOptions,
} from '../packages/tools/src/workspace/memoryWorkspace.ts'
export { dockerWorkspace, type DockerWorkspaceOptions } from '../packages/tools/src/workspace/dockerWorkspace.ts'
export {
  fromAiSdkSandbox,
  type AiSdkSandbox,
  type AiSdkSandboxOptions,
} from '../packages/tools/src/workspace/aiSdkSandbox.ts'

// A place of your own
export {
  workspaceCodes,
  type ExecEnd,
  type ExecOptions,
  type ListOptions,
  type ReadOptions,
  type Workspace,
  type WorkspaceCode,
  type WorkspaceEntry,
  type WorkspaceFile,
  type WriteOptions,
} from '../packages/tools/src/workspace/port.ts'
