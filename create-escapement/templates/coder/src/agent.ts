import { defineAgent, workspaceTools, type AnyModel } from 'escapement'

/** Works in a folder. */
export const coder = (model: AnyModel, folder: string) =>
  defineAgent({
    name: 'coder',
    model,
    instructions:
      'Look before you change anything, make the smallest change that does the task, and run the tests before you say that it is done.',
    tools: workspaceTools(folder, { needsApproval: { run_command: true }, snapshots: true }),
    braking: { fold: true, stall: true, revert: { undo: true } },
    // A limit in dollars, costUsd, needs the prices of the model: pricing.
    limits: { turns: 50, tokens: 3_000_000 },
  })
