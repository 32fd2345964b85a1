import { alwaysAsks, neverAsks, type Tool } from '../../../../src/actors/tools/defineTool.ts'

/** Returns a fingerprint of everything that models and people see of a tool. */
export const printOf = ({ name, description, inputSchema, effects, needsApproval }: Tool): string =>
  JSON.stringify([name, description, inputSchema, effects, needsApproval === neverAsks, needsApproval === alwaysAsks])
