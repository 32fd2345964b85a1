/** Version of this package, as its package.json has it: a test keeps them equal. Code, so that no bundle lacks it. */
export const version = '0.1.0'
