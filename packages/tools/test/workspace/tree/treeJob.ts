import { policyModel } from '../../../../models/src/policyModel.ts'
import { defineAgent } from '../../../../../src/index.ts'
import { workspaceTools } from '../../../src/workspace/workspaceTools.ts'

/** Text by which the command that is in danger makes its file, and a line that it carries out in between. */
export const dangerous = (between: string): string => `echo k > k1.txt; ${between}; echo k > k2.txt`

/** An agent that edits a file, formats it, edits it again, removes a folder and then runs the command that is in danger. */
export function treeAgent(folder: string, between = 'true') {
  const steps = [
    { name: 'edit_file', input: { path: 'a.txt', oldText: 'one', newText: 'two' } },
    { name: 'run_command', input: { command: "sed -i 's/two/TWO/; s/bee/BEE/' a.txt b.txt" } },
    { name: 'edit_file', input: { path: 'a.txt', oldText: 'TWO', newText: 'three' } },
    { name: 'run_command', input: { command: 'rm -r dir; mkdir -p made/deep; echo n > made/deep/n' } },
    { name: 'run_command', input: { command: dangerous(between) } },
  ]
  const model = policyModel(({ messages }) => {
    const step = steps[messages.filter(({ role }) => role === 'toolResult').length]
    return step === undefined ? 'done' : { toolCalls: [step] }
  })
  return defineAgent({
    name: 'worker',
    model,
    tools: workspaceTools(folder, { snapshots: 'tree' }),
    braking: { revert: { undo: true } },
  })
}

/** Reverts to the beginning, and undoes. */
export const undoAll = { category: 'failure', summary: 'not this way', undo: true } as const
