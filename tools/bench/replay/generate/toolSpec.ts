import type { ToolSpec } from '../../../../src/index.ts'

/** A tool whose fields are all texts that are needed. */
export const tool = (name: string, description: string, ...fields: string[]): ToolSpec => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
    required: fields,
  },
})
