import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import type { TrialGiven } from './suite/defineSuite.ts'

const instructions =
  'You are a coding agent working in a folder with tools. Look before you change anything, make the smallest change that does the task, ' +
  'check it, and say at the end what you changed and how you checked it. Paths are relative to the folder.'

/** Returns the default agent of a suite: it codes in the folder of the trial, and needs no approvals. */
export const defaultAgent = ({ model, tools }: Pick<TrialGiven, 'model' | 'tools'>): AgentDefinition =>
  defineAgent({
    name: 'coder',
    model,
    instructions,
    tools,
    // Embedded models send an edit together with the call that checks it.
    ...(model.id.startsWith('embedded:') ? { toolExecution: 'sequential' as const } : {}),
  })
