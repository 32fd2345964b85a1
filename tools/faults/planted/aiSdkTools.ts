import type { Fault } from '../mutate.ts'

/** Slips with tools of the AI SDK and schemas of other libraries. */
export const faults: readonly Fault[] = [
  {
    id: 'aiSdkTools-1',
    file: 'src/actors/tools/toolSchema.ts',
    what: 'arguments whose check takes time are never checked',
    from: 'isObject(value) && waiting.has(value) ? finished(validate, value) : value',
    to: 'value',
    tests: ['actors/toolSchema'],
  },
  {
    id: 'aiSdkTools-2',
    file: 'src/actors/tools/defineTool.ts',
    what: 'a call is approved by what it says before its check has read it',
    from: "typeof approval === 'function' ? finishedBefore(finish, approval)",
    to: "typeof approval === 'function' ? (approval as never)",
    tests: ['actors/toolSchema'],
  },
  {
    id: 'aiSdkTools-3',
    file: 'packages/ai-sdk/src/adapters/aiSdkTool.ts',
    what: "a tool that asks for approval by the AI SDK's way runs unasked",
    from: 'use.needsApproval ?? tool.needsApproval',
    to: 'use.needsApproval',
    tests: ['ai-sdk/test/adapters/aiSdkTools'],
  },
  {
    id: 'aiSdkTools-4',
    file: 'packages/ai-sdk/src/adapters/modelOutput.ts',
    what: 'what a tool returned passes for blocks that it never made',
    from: '(isBlocks(output) ? JSON.stringify(output) : output)',
    to: 'output',
    tests: ['ai-sdk/test/adapters/aiSdkTools'],
  },
  {
    id: 'aiSdkTools-5',
    file: 'packages/ai-sdk/src/adapters/aiSdkTool.ts',
    what: 'a tool gets a context that its schema refuses',
    from: 'if (checked?.success === false) throw',
    to: 'if (checked === null) throw',
    tests: ['ai-sdk/test/adapters/aiSdkTools'],
  },
  {
    id: 'aiSdkTools-6',
    file: 'packages/ai-sdk/src/adapters/aiSdkTools.ts',
    what: 'a schema that never comes brings the process down',
    from: '(thrown: unknown) => void (this.trouble = messageOf(thrown)),',
    to: '',
    tests: ['ai-sdk/test/adapters/aiSdkTools'],
  },
]
