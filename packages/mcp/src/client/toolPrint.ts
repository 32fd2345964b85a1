import { createHash } from 'node:crypto'
import { alwaysAsks, neverAsks, type Tool } from '../../../../src/actors/tools/defineTool.ts'

/** Returns a fingerprint of everything that models and people see of a tool. */
export const printOf = ({ name, description, inputSchema, effects, needsApproval }: Tool): string =>
  JSON.stringify([name, description, inputSchema, effects, needsApproval === neverAsks, needsApproval === alwaysAsks])

/** Returns a fingerprint of a list of tools, which ignores their order. Pure. */
export const printOfAll = (tools: readonly Tool[]): string =>
  createHash('sha256')
    .update(JSON.stringify(tools.map(printOf).toSorted()))
    .digest('hex')
    .slice(0, 12)
