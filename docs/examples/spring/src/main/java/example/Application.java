// SPDX-License-Identifier: Apache-2.0
package example;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;

/** Application FILE COUNT, with -Dredisson.yaml=FILE: the configuration file that the C service reads, too. */
@Configuration
@ComponentScan
public class Application {
    @Bean(destroyMethod = "shutdown")
    RedissonClient redisson() throws IOException {
        return Redisson.create(Config.fromYAML(new File(System.getProperty("redisson.yaml"))));
    }

    public static void main(String[] args) throws Exception {
        try (var context = new AnnotationConfigApplicationContext(Application.class)) {
            InvoiceService invoices = context.getBean(InvoiceService.class);
            int count = Integer.parseInt(args[1]);
            for (int i = 0; i < count; i++) {
                invoices.next(Path.of(args[0]));
            }
            System.out.println("Spring issued " + count);
        }
    }
}
