import { agentPart } from '../agentPart.ts'
import { exitPlanName, exitPlanTool } from './exitPlanTool.ts'
import {
  permissionSchema,
  permissionSettings,
  type PermissionOption,
  type PermissionSetting,
} from './permissionOptions.ts'

/** The part for rules about calls. `judgeCall` applies them before each call. */
export const permissionsPart = agentPart<PermissionOption, PermissionSetting>({
  options: { permissions: permissionSchema },
  settings: ({ permissions }, label) => ({
    permissions: permissions === undefined ? [] : [permissionSettings(permissions, label)],
  }),
  tools: (_, { permissions }) => (permissions.length === 0 ? [] : [exitPlanTool()]),
  toolNames: [exitPlanName],
  flags: (_, { permissions }) => (permissions.length === 0 ? {} : { permissions: true }),
})
