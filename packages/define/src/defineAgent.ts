import { defineAgent as define } from '../../../src/actors/define/defineAgent.ts'
import { foreign } from '../../../src/actors/define/foreign.ts'
import { aiSdkModel } from '../../ai-sdk/src/adapters/aiSdkModel.ts'
import { isAiSdkToolSet, toolsOfSet } from '../../ai-sdk/src/adapters/aiSdkTools.ts'
import { isAiSdkModel } from '../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { skillTools } from '../../tools/src/skills/skillTools.ts'

const readers: Required<typeof foreign> = {
  model: (value) => (isAiSdkModel(value) ? aiSdkModel(value) : undefined),
  isToolSet: isAiSdkToolSet,
  toolsOf: (set, label) => toolsOfSet(set, {}, label),
  skillTools,
}

/** `defineAgent` of the core, which takes models and tools of the AI SDK too, and folders of skills. */
export const defineAgent: typeof define = (options) => {
  Object.assign(foreign, readers)
  return define(options)
}
