import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { sortModel } from '../../../../demo/src/sortPolicy.ts'
import { checkFile, checkProgram } from '../../../../demo/src/sortTask.ts'
import { folderTools } from './folderTools.ts'
import type { Steps } from './steps.ts'

export interface SorterOptions {
  /** Lets its model answer one request at a time. Default: as they come. */
  readonly steps?: Steps
  /** Milliseconds between words. Default 18. */
  readonly wordDelayMs?: number
}

/**
 * The agent of the sort demo for a page: it writes a slow sort, is stopped by the time limit, reverts, and writes a fast one. Told `Sort.`, or
 * `sortTask`, it begins. The folder is its own and in memory; programs run in a worker.
 */
export function defineSorter({ steps, wordDelayMs = 18 }: SorterOptions = {}): AgentDefinition {
  const model = sortModel({ wordDelayMs })
  return defineAgent({
    name: 'sorter',
    description: 'Writes a fast sort, and may go back to where a dead end began.',
    model: steps?.model(model) ?? model,
    tools: folderTools(new Map([[checkFile, checkProgram]])),
    braking: { revert: true },
    limits: { turns: 50 },
  })
}
