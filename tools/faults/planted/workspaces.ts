import type { Fault } from '../mutate.ts'

const folder = 'packages/tools/src/workspace'
const contract = ['workspace/contract/localContract']
const memory = ['workspace/contract/memoryContract']
const sandbox = ['workspace/contract/aiSdkContract']
const docker = ['workspace/dockerWorkspace']
const life = ['workspace/workspaceLife']
const tools = ['workspace/toolsOverPort']

export const faults: readonly Fault[] = [
  {
    id: 'workspaces-1',
    file: `${folder}/localWorkspace.ts`,
    what: 'a file is written over a content that nobody read',
    from: 'if (now !== expected)',
    to: 'if (now === undefined)',
    tests: contract,
  },
  {
    id: 'workspaces-2',
    file: `${folder}/localWorkspace.ts`,
    what: 'commands live on when their workspace is closed',
    from: 'signal: AbortSignal.any([signal, closing.signal]),',
    to: 'signal,',
    tests: contract,
  },
  {
    id: 'workspaces-3',
    file: `${folder}/memoryWorkspace.ts`,
    what: 'files in memory share the bytes of their callers',
    from: 'const news = bytes.slice()',
    to: 'const news = bytes',
    tests: memory,
  },
  {
    id: 'workspaces-4',
    file: `${folder}/paths.ts`,
    what: 'a path leads out of the root',
    from: 'else if (names.pop() === undefined) leaves = true',
    to: 'else names.pop()',
    tests: memory,
  },
  {
    id: 'workspaces-5',
    file: `${folder}/shellFiles.ts`,
    what: 'a link in a sandbox is followed',
    from: 'if [ -L "$at" ]; then\n    printf',
    to: 'if [ -L "$at/none" ]; then\n    printf',
    tests: sandbox,
  },
  {
    id: 'workspaces-6',
    file: `${folder}/shellFiles.ts`,
    what: 'a write that was aborted leaves a file behind',
    from: 'await place.run(discard, [root, lexical, name]',
    to: "await place.run(discard, [root, lexical, 'other']",
    tests: sandbox,
  },
  {
    id: 'workspaces-7',
    file: `${folder}/dockerExec.ts`,
    what: 'a command that ends without a word from its leader is taken for one that succeeded',
    from: 'throw new Error(said.replace(',
    to: 'return { code: 0 }\n    throw new Error(said.replace(',
    tests: docker,
  },
  {
    id: 'workspaces-8',
    file: `${folder}/dockerContainer.ts`,
    what: 'a container lives on when its process is killed',
    from: "const keeper = 'echo ready; exec cat >/dev/null'",
    to: "const keeper = 'echo ready; exec sleep 600'",
    tests: docker,
  },
  {
    id: 'workspaces-9',
    file: `${folder}/workspaceUse.ts`,
    what: 'a workspace that failed is used again',
    from: 'held.workspace = workspace.anew?.() ?? workspace\n      if',
    to: 'if',
    tests: life,
  },
  {
    id: 'workspaces-10',
    file: `${folder}/workspaceUse.ts`,
    what: 'the first runtime that is closed closes the workspace of all',
    from: 'if (--held.users > 0) return',
    to: 'held.users -= 1',
    tests: life,
  },
  {
    id: 'workspaces-11',
    file: 'src/runtime/agents/agentHost.ts',
    what: 'what an agent has opened stays open when it ends',
    from: 'const left = this.isLoaded ? this.shared.resources.leave(this.agentId) : undefined',
    to: 'const left = undefined',
    tests: life,
  },
  {
    id: 'workspaces-12',
    file: `${folder}/editFile.ts`,
    what: 'an edit overwrites what something else wrote meanwhile',
    from: 'await workspace.write(path, after, { signal, expect: before.hash })',
    to: 'await workspace.write(path, after, { signal })',
    tests: tools,
  },
]
