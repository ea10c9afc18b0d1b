import { CapstanError } from "../core/errors.ts";

/** Loads what only some providers need, and says how to install it where it is not there. */
export async function clientPackage<Module>(load: () => Promise<Module>, packages: string): Promise<Module> {
  try {
    return await load();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw thrown;
    throw new CapstanError(
      "unsupported",
      `This provider needs a client that is not installed. Run npm install ${packages} where Capstan is installed (with -g if it is installed so).`,
      { data: { packages: packages.split(" ") }, cause: thrown },
    );
  }
}
