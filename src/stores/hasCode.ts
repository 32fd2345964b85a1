/** Whether a thrown value is a system error of this code, such as `ENOENT`. */
export const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code
