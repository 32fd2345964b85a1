import { z } from 'zod'
import { policyModel } from '../../../models/src/policyModel.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'

/** A tool with a long result, which its call can be repeated for. */
export const readAll = defineTool({
  name: 'read_all',
  description: 'Reads everything.',
  input: z.object({}),
  effects: 'none',
  run: () => 'word '.repeat(200),
})

/** Calls it once for each prompt. */
export const readingModel = () =>
  policyModel(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? 'It was read.' : { toolCalls: [{ name: 'read_all', input: {} }] },
  )
