import { defineAgent as define } from '../../../src/actors/define/defineAgent.ts'
import { outside } from '../../../src/actors/define/outside.ts'
import { aiSdkModel } from '../../ai-sdk/src/adapters/aiSdkModel.ts'
import { isAiSdkToolSet, toolsOfSet } from '../../ai-sdk/src/adapters/aiSdkTools.ts'
import { isAiSdkModel } from '../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { declarationOf } from '../../tools/src/finding/declaration.ts'
import { findingTools } from '../../tools/src/finding/findTools.ts'
import { skillTools } from '../../tools/src/skills/skillTools.ts'

const known: Required<typeof outside> = {
  model: (value) => (isAiSdkModel(value) ? aiSdkModel(value) : undefined),
  isToolSet: isAiSdkToolSet,
  toolsOf: (set, label) => toolsOfSet(set, {}, label),
  skillTools,
  findingTools,
  declarationOf,
}

/** `defineAgent` of the core, with what packages know: models and tools of the AI SDK, folders of skills, tools that are found by words. */
export const defineAgent: typeof define = (options) => {
  Object.assign(outside, known)
  return define(options)
}
