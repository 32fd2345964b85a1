import { rightsOf, type Right, type Role } from '../../src/protocol/rights.ts'

/** Whether a client with a role has a right. */
export const having =
  (role: Role): ((right: Right) => boolean) =>
  (right) =>
    rightsOf({ role }).has(right)
